/** Runs in a container: reports how FFmpeg is confined there, and what came of what a program in its place tries. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { checkSandbox, runFfmpeg } from '../../stream-service/ffmpeg/index.ts';
import { sandboxCommand } from '../../stream-service/ffmpeg/sandbox.ts';

const FFMPEG = '/usr/local/bin/ffmpeg';
const STATE = '/scratch/state.db';

/** Runs as FFmpeg would: one attempt of each kind of those in test/stream-service/ffmpeg/hostile-ffmpeg.py. */
const HOSTILE = `
const fs = require('node:fs'), net = require('node:net'), dgram = require('node:dgram');
const { once } = require('node:events');
const attempts = {
  'read the state file': () => fs.readFileSync('${STATE}'),
  'truncate a file': () => fs.truncateSync('${STATE}'),
  'start a process': () => { const { error } = require('node:child_process').spawnSync(process.execPath); if (error) throw error; },
  'signal the service': () => process.kill(process.ppid, 0),
  'send a datagram': () => new Promise((resolve, reject) => {
    const socket = dgram.createSocket('udp4');
    socket.once('error', reject).send('x', 9, '127.0.0.1', (error) => (error ? reject(error) : resolve()));
  }),
  'connect by TCP': () => once(net.connect(9, '127.0.0.1'), 'connect'),
};
const outcomes = {};
for (const [name, attempt] of Object.entries(attempts))
  outcomes[name] = await Promise.resolve().then(attempt).then(() => 'done', ({ code }) => code);
console.log(JSON.stringify(outcomes));`;

async function runHostile() {
  const [program = '', ...args] = [...sandboxCommand(process.execPath), '--input-type=module', '-e', imports(HOSTILE)];
  const child = spawn(program, args, { env: {}, stdio: ['ignore', 'pipe', 'inherit'] });
  return child.stdout ? JSON.parse(await text(child.stdout)) : undefined;
}

/** A module, for its `await`. */
const imports = (script: string): string =>
  `import { createRequire } from 'node:module'; const require = createRequire('/');${script}`;

writeFileSync(STATE, 'secret');
const sandbox = await checkSandbox(FFMPEG);
let ffmpegBytes = 0;
const args = ['-f', 'lavfi', '-i', 'sine=duration=1', '-f', 's16le'];
for await (const chunk of runFfmpeg({ path: FFMPEG, args })) ffmpegBytes += chunk.length;
const outcomes = await runHostile();
process.stdout.write(`${JSON.stringify({ sandbox, ffmpegBytes, outcomes, state: readFileSync(STATE, 'utf8') })}\n`);
