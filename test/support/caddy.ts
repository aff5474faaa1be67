import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { acceptsAt, startListening } from './listening-program.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Starts Caddy with one site until its test or the tests of the file have ended. @returns `host:port` */
export async function startCaddy(siteAt: (port: number) => string): Promise<string> {
  const port = await freePort();
  const folder = await temporaryFolder();
  const file = join(folder, 'Caddyfile');
  await writeFile(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${siteAt(port)}`);
  await startListening('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], folder, acceptsAt(port));
  return `127.0.0.1:${port}`;
}
