/** As much of a worker as the smoke test asks for, and quick: what a real one answers is tested with a real one. */
import { createInterface } from 'node:readline';

console.log('{"ready":true}');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, url } = JSON.parse(line);
  const found = { ok: true, info: { formats: [{ url }] } };
  const missing = { ok: false, error: { kind: 'http', httpStatus: 404 } };
  console.log(`${id} ${JSON.stringify(url.endsWith('/missing') ? missing : found)}`);
});
