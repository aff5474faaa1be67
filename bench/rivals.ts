import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../test/support/free-port.ts';
import { installPythonPackages } from '../test/support/python-packages.ts';
import type { BenchOrigin } from './origin.ts';
import { type Server, startNginx, startServer } from './processes.ts';

const KEEP_ALIVE = 'proxy_http_version 1.1; proxy_set_header Connection "";';
const UNBUFFERED = `proxy_buffering off; ${KEEP_ALIVE}`;
const BUFFERED = `proxy_buffering on; proxy_buffer_size 256k; proxy_buffers 16 256k; proxy_busy_buffers_size 512k;
  proxy_max_temp_file_size 0; ${KEEP_ALIVE}`;

/** nginx `proxy_pass` to the origin, below `/secure/` by TLS. `isTuned`: with 256 KiB buffers and no temporary files. */
export const startNginxProxy = ({ baseUrl, secure }: BenchOrigin, isTuned: boolean): Promise<Server> => {
  const options = isTuned ? BUFFERED : UNBUFFERED;
  return startNginx(`
      location / { proxy_pass ${baseUrl}; ${options} }
      location /secure/ { proxy_pass ${secure.baseUrl}/; ${options} }`);
};

/** HAProxy to the origin, below `/secure/` by TLS, with 256 KiB buffers, splicing, and a thread per core. */
export async function startHaproxy({ host, secure }: BenchOrigin): Promise<Server> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'bench-haproxy-'));
  const file = join(folder, 'haproxy.cfg');
  await writeFile(
    file,
    `global
  nbthread 2
  maxconn 4096
  tune.bufsize 262144
defaults
  mode http
  option splice-auto
  timeout connect 10s
  timeout client 60s
  timeout server 60s
frontend bench
  bind 127.0.0.1:${port}
  use_backend secure if { path_beg /secure/ }
  default_backend plain
backend plain
  server origin ${host}
backend secure
  http-request replace-path /secure(/.*) \\1
  server origin ${secure.host} ssl verify none
`,
  );
  return startServer('haproxy', ['-db', '-f', file], { port, folder });
}

/** What a user would take instead. pip installs it at the first run. Its own command listens on all addresses; this server is the one it uses. */
export async function startMediaflow(): Promise<Server> {
  const port = await freePort();
  const python = await installPythonPackages('mediaflow-proxy', 'mediaflow-proxy==2.4.9');
  const args = ['-m', 'uvicorn', 'mediaflow_proxy.main:app', '--host', '127.0.0.1', '--port', String(port)];
  return startServer(python, [...args, '--no-access-log'], { port, env: { LOG_LEVEL: 'ERROR' } });
}
