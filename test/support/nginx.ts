import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { acceptsAt, startListening } from './listening-program.ts';
import { temporaryFolder } from './temporary-folder.ts';

interface Configuration {
  /** Directives before the server. */
  readonly http?: string;
  /** Those of the server at that address. @default `http` has one */
  readonly server?: string;
}

/**
 * Starts nginx until its test or the tests of the file have ended.
 * @param configure gets a folder for its files, and `host:port`
 */
export async function startNginx(configure: (folder: string, host: string) => Promise<Configuration>) {
  const folder = await temporaryFolder();
  const port = await freePort();
  const host = `127.0.0.1:${port}`;
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const { http = '', server } = await configure(folder, host);
  const own = server === undefined ? '' : `server { listen ${host}; ${server} }`;
  await writeFile(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr;
    events {}
    http { access_log off; ${temporary.join(' ')} ${http} ${own} }`,
  );
  const args = ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'];
  return { host, ...(await startListening('nginx', args, folder, acceptsAt(port))) };
}
