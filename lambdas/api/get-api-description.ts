import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openApiDocument, privateOpenApiDocument, problems } from '../../core/api/index.ts';
import { ACCESS_HEADER } from '../../core/http/index.ts';
import {
  createHandler,
  createNotFound,
  type Event,
  type Handler,
  type HandlerOptions,
  headerOf,
  type Result,
} from '../http-handler.ts';

export interface GetApiDescriptionOptions extends HandlerOptions {
  /** The interactive page exists in `Development` only. */
  readonly environment: string;
  /** Folder with the assets of `swagger-ui-dist`. */
  readonly assetsDir: string;
}

const DOCUMENT_PATH = '/swagger/v1/swagger.json';

const pageBelow = (base: string) => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Reelay API</title><link rel="stylesheet" href="${base}/swagger/swagger-ui.css"></head>
<body><div id="swagger-ui"></div>
<script src="${base}/swagger/swagger-ui-bundle.js"></script><script src="${base}/swagger/start.js"></script></body>
</html>`;

const startBelow = (base: string) => `SwaggerUIBundle({ url: '${base}${DOCUMENT_PATH}', dom_id: '#swagger-ui' });`;

/** Assets served from the folder, with their types. */
const ASSETS = new Map([
  ['swagger-ui.css', 'text/css'],
  ['swagger-ui-bundle.js', 'text/javascript'],
]);

/** Own scripts only. Swagger UI sets inline styles and draws its icons from data URLs. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'";

/** GET /swagger/v1/swagger.json always, in development the interactive page at /swagger, and 404 for every other path. */
export function createGetApiDescription(options: GetApiDescriptionOptions): Handler {
  const notFound = createNotFound(options);
  const description = createHandler({ ...options, methods: ['GET', 'HEAD'] }, async (event) => {
    const { basePath: base = '' } = event.requestContext;
    const path = event.rawPath.toLowerCase().replace(/\/$/, '');
    if (path === DOCUMENT_PATH) return text('application/json', JSON.stringify(descriptionFor(event)));
    if (options.environment !== 'Development') throw problems.notFound();
    if (path === '/swagger') return text('text/html', pageBelow(base));
    if (path === '/swagger/start.js') return text('text/javascript', startBelow(base));
    const name = path.replace(/^\/swagger\//, '');
    const type = ASSETS.get(name);
    if (!type) throw problems.notFound();
    return text(type, await readFile(join(options.assetsDir, name), 'utf8'));
  });
  return (event, context) =>
    (event.rawPath.toLowerCase().startsWith('/swagger') ? description : notFound)(event, context);
}

/** Paths are relative to the origin unless it says so. */
const descriptionFor = (event: Event) => {
  const document = headerOf(event, ACCESS_HEADER) ? privateOpenApiDocument : openApiDocument;
  const { basePath } = event.requestContext;
  return basePath ? { ...document, servers: [{ url: basePath }] } : document;
};

const text = (type: string, body: string): Result => ({
  statusCode: 200,
  headers: { 'content-type': `${type}; charset=utf-8`, 'content-security-policy': POLICY },
  body,
});
