import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Downloads a URL with curl. @returns bytes @throws Error when curl fails or the status is no success */
export async function take(url: string, file = '/dev/null'): Promise<number> {
  const args = ['-s', '-S', '--fail', '-o', file, '-w', '%{size_download}'];
  const curl = spawn('curl', [...args, url], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  curl.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [code] = await once(curl, 'close');
  if (code !== 0) throw new Error(`curl ended with ${code} for ${url}`);
  return Number(output);
}

/** The same by several clients concurrently. @returns bytes in all */
export async function takeTogether(url: string, clients: number): Promise<number> {
  const taken = await Promise.all(Array.from({ length: clients }, () => take(url)));
  return taken.reduce((total, bytes) => total + bytes, 0);
}

/** Milliseconds until the first byte of the body. */
export async function firstByteMs(url: string, headers: Record<string, string> = {}): Promise<number> {
  const start = performance.now();
  const abort = new AbortController();
  const response = await fetch(url, { headers, signal: abort.signal });
  if (!response.ok) throw new Error(`${response.status} for ${url}`);
  await response.body?.getReader().read();
  const elapsed = performance.now() - start;
  abort.abort();
  return elapsed;
}
