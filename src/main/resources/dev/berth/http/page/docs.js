// Swagger UI of this server's own document. Nothing is sent elsewhere.
window.ui = SwaggerUIBundle({url: "openapi.json", dom_id: "#swagger-ui", validatorUrl: null, deepLinking: true});
