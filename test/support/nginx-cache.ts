import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

/** A cache in front of an origin, as CloudFront caches streams: it requests and keeps ranges, and serves any range of them. */
export interface NginxCache {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Starts nginx with its slice module. It keeps what the origin allows by Cache-Control and nothing else; the key is path,
 * query and Origin. Responses say by `x-cache` whether they were kept (`HIT`) or came from the origin (`MISS`).
 */
export async function startNginxCache(origin: string): Promise<NginxCache> {
  const folder = await mkdtemp(join(tmpdir(), 'reelay-nginx-'));
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  await writeFile(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr notice;
    events {}
    http {
      access_log off; ${temporary.join(' ')}
      proxy_cache_path ${folder}/cache keys_zone=streams:1m;
      server {
        listen 127.0.0.1:${port};
        location / {
          slice 256k;
          proxy_cache streams;
          proxy_cache_key $uri$is_args$args$http_origin$slice_range;
          proxy_set_header Range $slice_range;
          proxy_http_version 1.1;
          add_header x-cache $upstream_cache_status always;
          proxy_pass ${origin};
        }
      }
    }`,
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
    url: `http://127.0.0.1:${port}`,
    async close() {
      nginx.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
