import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openApiDocument, problems } from '../../core/api/index.ts';
import { createHandler, type Handler, type HandlerOptions, type Result } from '../middleware/index.ts';

export interface GetApiDescriptionOptions extends Omit<HandlerOptions, 'methods'> {
  /** The interactive page is there in `Development` only. */
  readonly environment: string;
  /** Folder of the page's parts, as `swagger-ui-dist` has them. */
  readonly assetsDir: string;
}

const DOCUMENT_PATH = '/swagger/v1/swagger.json';

const PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Reelay API</title><link rel="stylesheet" href="/swagger/swagger-ui.css"></head>
<body><div id="swagger-ui"></div>
<script src="/swagger/swagger-ui-bundle.js"></script><script src="/swagger/start.js"></script></body>
</html>`;

const START = `SwaggerUIBundle({ url: '${DOCUMENT_PATH}', dom_id: '#swagger-ui' });`;

/** The page's parts that are files of the package, and their types. */
const ASSETS = new Map([
  ['swagger-ui.css', 'text/css'],
  ['swagger-ui-bundle.js', 'text/javascript'],
]);

/** Only its own parts: nothing inline, nothing from elsewhere. The page draws its icons from data URLs. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'";

/** GET /swagger/v1/swagger.json always, and in development the interactive page at /swagger. */
export const createGetApiDescription = (options: GetApiDescriptionOptions): Handler =>
  createHandler({ ...options, methods: ['GET', 'HEAD'] }, async ({ rawPath }) => {
    const path = rawPath.toLowerCase().replace(/\/$/, '');
    if (path === DOCUMENT_PATH) return text('application/json', JSON.stringify(openApiDocument));
    if (options.environment !== 'Development') throw problems.notFound();
    if (path === '/swagger') return text('text/html', PAGE);
    if (path === '/swagger/start.js') return text('text/javascript', START);
    const name = path.replace(/^\/swagger\//, '');
    const type = ASSETS.get(name);
    if (!type) throw problems.notFound();
    return text(type, await readFile(join(options.assetsDir, name), 'utf8'));
  });

const text = (type: string, body: string): Result => ({
  statusCode: 200,
  headers: { 'content-type': `${type}; charset=utf-8`, 'content-security-policy': POLICY },
  body,
});
