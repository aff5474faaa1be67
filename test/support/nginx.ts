import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

interface Nginx {
  /** `host:port` */
  readonly host: string;
  close(): Promise<void>;
}

/** Starts nginx with one server. @param configure gets a folder for its files; @returns directives, those in `http` before */
export async function startNginx(
  configure: (folder: string) => Promise<{ readonly http?: string; readonly server: string }>,
): Promise<Nginx> {
  const folder = await mkdtemp(join(tmpdir(), 'reelay-nginx-'));
  const host = `127.0.0.1:${await freePort()}`;
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const { http = '', server } = await configure(folder);
  await writeFile(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr notice;
    events {}
    http { access_log off; ${temporary.join(' ')} ${http} server { listen ${host}; ${server} } }`,
  );
  const nginx = spawn('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(nginx, 'exit');
  const log: string[] = [];
  await new Promise<void>((resolve, reject) => {
    nginx.once('error', reject);
    nginx.stderr.on('data', (chunk) => {
      log.push(String(chunk));
      if (/start worker process|using the "\w+" event method/.test(String(chunk))) resolve();
    });
    void ended.then(() => reject(new Error(`nginx ended: ${log.join('')}`)), reject);
  });
  return {
    host,
    async close() {
      nginx.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
