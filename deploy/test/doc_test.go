// Package deploy_test checks what deploy/ holds, and the Dockerfile, as far as that goes without a container engine and
// a cluster: the chart is linted and rendered by Helm's own code, and what comes out is read strictly as Kubernetes'
// types; the compose file is read by Compose's own loader; the Dockerfile is linted by BuildKit, and what it builds is
// built from the files that .dockerignore leaves.
//
// It is a module of its own, so that what it needs is not what Weir needs.
package deploy_test
