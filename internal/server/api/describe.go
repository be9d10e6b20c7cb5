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
	content := doc.Paths[queuePath+messagesSegment].Post.RequestBody.Content
	content[typeNDJSON] = &huma.MediaType{Schema: &huma.Schema{
		Type: huma.TypeString, Description: "One message a line, as in the list of the JSON body.",
	}}
	content[typeEvent] = &huma.MediaType{Schema: eventSchema()}
	content[typeEventBatch] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeArray, Items: eventSchema()}}
	doc.Paths[groupPath+"/events"].Get.Responses["200"] = &huma.Response{
		Description: "Events `message`, each with a Message, until the client goes; before an early end one `problem`",
		Content:     map[string]*huma.MediaType{typeEventFlow: {Schema: &huma.Schema{Type: huma.TypeString}}},
	}
	for _, schema := range doc.Components.Schemas.Map() {
		if headers, ok := schema.Properties["headers"]; ok {
			headers.Type, headers.Nullable, headers.AdditionalProperties = huma.TypeObject, true, true
		}
	}
}

// eventSchema describes an event of CloudEvents 1.0 in the JSON format.
func eventSchema() *huma.Schema {
	one := 1
	text := &huma.Schema{Type: huma.TypeString, MinLength: &one}
	return &huma.Schema{
		Type: huma.TypeObject, Description: "A CloudEvent: its data become the payload, its attributes the headers.",
		Required: []string{"specversion", "id", "source", "type"},
		Properties: map[string]*huma.Schema{
			"specversion": {Type: huma.TypeString, Enum: []any{"1.0"}}, "id": text, "source": text, "type": text,
			"partitionkey": {Type: huma.TypeString, Description: "The message's key."}, "data": {},
		},
	}
}
