import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';

const OPTIONS = '-I rc --rc-fake-tty --vout dummy --aout dummy --play-and-pause'.split(' ');
/** As `nobody`: VLC refuses to run as root. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** VLC that plays a URL, without a picture or sound, and is told what to do by lines of text. */
export function startVlc(url: string) {
  const env = { PATH: process.env.PATH, HOME: tmpdir() };
  const child = spawn('vlc', [...OPTIONS, url], { ...USER, env, stdio: ['pipe', 'pipe', 'ignore'] });
  const hasEnded = once(child, 'close');
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  return {
    /** Sends a command again and again until what VLC answers matches. */
    async see(command: string, pattern: RegExp): Promise<void> {
      output = '';
      while (!pattern.test(output)) {
        child.stdin.write(`${command}\n`);
        await Promise.race([
          once(child.stdout, 'data'),
          hasEnded.then(() => Promise.reject(new Error('VLC has ended'))),
        ]);
      }
    },
    async [Symbol.asyncDispose](): Promise<void> {
      child.kill('SIGKILL');
      await hasEnded;
    },
  };
}
