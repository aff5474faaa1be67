/** Runs in a container: resolves a link by a process of its own, with the yt-dlp of a folder, and reports the response. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEgress } from '../../core/egress/index.ts';
import { startLinkProcesses } from '../../packages/yt-dlp-worker/src/worker/link-processes.ts';
import { locateLayeredYtDlp } from '../../packages/yt-dlp-worker/src/yt-dlp/layered-yt-dlp.ts';

const [url = '', ytDlpDir = ''] = process.argv.slice(2);
const egress = createEgress({ allow: [new URL(url).host] });
const session = await egress.openProxySession({});
const ytDlp = await locateLayeredYtDlp(ytDlpDir, join(tmpdir(), 'yt-dlp'));
if (!ytDlp) throw new Error('No yt-dlp');
const processes = await startLinkProcesses({ ytDlp, concurrency: 1, memoryBytes: 2 ** 29 });
const request = { url, timeoutSeconds: 60, proxy: session.proxyUrl, flat: true, playlistLimit: 1 };
const response = await processes.request(request);
process.stdout.write(`${JSON.stringify(response)}\n`);
await processes.close();
session.close();
await egress.close();
