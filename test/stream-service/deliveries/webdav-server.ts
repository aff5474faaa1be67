import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterFile } from '../../support/after-file.ts';
import { freePort } from '../../support/free-port.ts';

/** nginx with its WebDAV module. */
export interface WebDav {
  readonly url: string;
  readonly host: string;
  readonly username: string;
  readonly password: string;
  /** Paths of all files. */
  files(): Promise<string[]>;
  read(path: string): Promise<Buffer>;
}

export async function startWebDav(): Promise<WebDav> {
  const folder = await mkdtemp(join(tmpdir(), 'reelay-webdav-'));
  const root = join(folder, 'root');
  const port = await freePort();
  await mkdir(join(root, 'files'), { recursive: true });
  await writeFile(join(folder, 'users'), 'user:{PLAIN}a password\n');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  await writeFile(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr notice;
    events {}
    http {
      access_log off; ${temporary.join(' ')}
      server {
        listen 127.0.0.1:${port};
        client_max_body_size 0;
        auth_basic files; auth_basic_user_file ${folder}/users;
        root ${root};
        dav_methods PUT DELETE MKCOL MOVE;
      }
    }`,
  );
  const nginx = spawn('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(nginx, 'exit');
  const log: string[] = [];
  afterFile(async () => {
    nginx.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true, force: true });
  });
  await new Promise<void>((resolve, reject) => {
    nginx.once('error', reject);
    nginx.stderr.on('data', (chunk) => {
      log.push(String(chunk));
      if (/using the "\w+" event method/.test(String(chunk))) resolve();
    });
    void ended.then(() => reject(new Error(`nginx ended: ${log.join('')}`)), reject);
  });
  const files = join(root, 'files');
  return {
    url: `http://127.0.0.1:${port}/files/`,
    host: `127.0.0.1:${port}`,
    username: 'user',
    password: 'a password',
    async files() {
      const found = await readdir(files, { recursive: true, withFileTypes: true });
      return found
        .filter((each) => each.isFile())
        .map((each) => relative(files, join(each.parentPath, each.name)))
        .sort();
    },
    read: (path) => readFile(join(files, path)),
  };
}
