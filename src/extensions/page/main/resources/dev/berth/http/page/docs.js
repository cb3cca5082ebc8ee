// Swagger UI of this server's own document. Nothing is sent elsewhere. Requests go to where this page came from, also through a proxy.
const spec = await (await fetch("openapi.json")).json();
spec.servers = [{url: new URL(".", location.href).href.slice(0, -1)}];
window.ui = SwaggerUIBundle({spec, dom_id: "#swagger-ui", validatorUrl: null, deepLinking: true});
