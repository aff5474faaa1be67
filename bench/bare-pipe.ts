/** A minimal Node proxy: `undici.request` piped to the response. The upper bound for a pass-through in Node. */
import { createServer } from 'node:http';
import { pipeline } from 'node:stream';
import { request } from 'undici';

const [port, upstream] = process.argv.slice(2);

createServer(async ({ url }, response) => {
  const { statusCode, headers, body } = await request(`${upstream}${url}`);
  response.writeHead(statusCode, { 'content-length': String(headers['content-length']) });
  pipeline(body, response, () => undefined);
}).listen(Number(port), '127.0.0.1');
