import { createServer } from 'node:http';
import { pipeline } from 'node:stream';
import { join, respond, urlSource } from '@reelay/seekable-media';

// node example.ts VIDEO AUDIO: one file of two URLs at http://localhost:8080, which players seek in and downloads resume.
const [, , video = '', audio = '', port = '8080'] = process.argv;
const file = await join(await Promise.all([urlSource(video), urlSource(audio)]));
const server = createServer(({ method = 'GET', headers }, response) => {
  const answer = respond({ method, headers: new Headers(headers as Record<string, string>) }, file);
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  pipeline(answer.body ?? [], response, () => undefined);
});
server.listen(Number(port), () => console.log('Serves', file.size, 'bytes at', server.address()));
