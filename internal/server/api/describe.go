package api

import (
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// describe adds to the OpenAPI document what huma cannot see in the types.
func (a *api) describe() {
	doc := a.huma.OpenAPI()
	for _, path := range []string{queuePath, groupPath} {
		responses := doc.Paths[path].Put.Responses
		responses["200"].Description = "It was there"
		responses[strconv.Itoa(http.StatusCreated)] = &huma.Response{
			Description: "It was created", Content: responses["200"].Content,
		}
	}
	for _, schema := range doc.Components.Schemas.Map() {
		if headers, ok := schema.Properties["headers"]; ok {
			headers.Type, headers.Nullable, headers.AdditionalProperties = huma.TypeObject, true, true
		}
	}
}
