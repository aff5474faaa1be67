import { createGuardedFetch } from '@reelay/guarded-fetch';
import { startYtDlp } from '@reelay/yt-dlp-worker';

// node example.ts LINK /usr/bin/python3 -m yt_dlp: by its path, since the environment of the worker is empty.
const [, , url = '', program = '/usr/bin/yt-dlp', ...args] = process.argv;
const { openProxySession, close } = createGuardedFetch({});
const { proxyUrl } = await openProxySession({ maxBytes: 64 * 2 ** 20 });
const ytDlp = { version: 'any', command: [program, ...args] as const, source: 'path' as const };
const worker = await startYtDlp('worker', { ytDlp, concurrency: 2, memoryBytes: 2 ** 29 });
const request = { url, proxy: proxyUrl, timeoutSeconds: 30, flat: true, playlistLimit: 10 };
const answer = await worker.request(request);
console.log(answer.ok && 'info' in answer ? answer.info.title : answer);
await worker.close();
await close();
