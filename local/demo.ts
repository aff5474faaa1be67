/** `npm run demo`: Reelay and a media origin, with commands to paste. Needs the internet only for its tools. */

import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { createShutdownStack } from '../core/concurrency/index.ts';
import { readSettings } from '../core/config/index.ts';
import { messageOf } from '../core/errors/index.ts';
import { ensureMedia } from '../test/origin/media.ts';
import { type Origin, startOrigin } from '../test/origin/server.ts';
import { DEMO_SAMPLES, describeSample } from './demo/index.ts';
import { createProcessLog, createTerminal, listen, shutdownOnSignals } from './process/index.ts';
import { startService } from './service.ts';

/** Fixed, so that links and keys are the same every time. */
const ORIGIN_PORT = 8090;
const PLUGIN_DIR = resolve(import.meta.dirname, '../test/origin/plugin');

const terminal = createTerminal(process.stdout);
const shutdown = createShutdownStack();

/** Reserves the origin's port until there is media to serve, so that a taken port is reported before any download. */
async function reservePort(): Promise<{ close(): Promise<void> }> {
  const server = createServer((socket) => socket.destroy());
  await listen(server, { host: '127.0.0.1', port: ORIGIN_PORT });
  let closed: Promise<void> | undefined;
  return {
    close: () => {
      closed ??= new Promise((done) => server.close(() => done()));
      return closed;
    },
  };
}

/** Starts both, then prints commands for each kind of link. */
async function demonstrate(): Promise<void> {
  const port = process.env.PORT ?? '8080';
  const settings = readSettings({ ...process.env, PORT: port, EGRESS_ALLOW: `127.0.0.1:${ORIGIN_PORT}` });
  const reserved = shutdown.own(await reservePort());
  let origin: Origin | undefined;
  // Registered before the service, hence closed after it: running streams can finish.
  shutdown.defer(() => origin?.close());
  const service = shutdown.own(
    await startService({
      settings,
      log: createProcessLog(process.stderr),
      onProgress: ({ name, bytes, totalBytes }) => terminal.progress(name, bytes, totalBytes),
      pluginDirs: [PLUGIN_DIR],
    }),
  );
  const { ffmpeg } = await service.ready;
  terminal.progress('Making media to try');
  const mediaDir = await ensureMedia({ ffmpegPath: ffmpeg.path });
  await reserved.close();
  origin = await startOrigin({ port: ORIGIN_PORT, mediaDir });

  terminal.say(`Reelay listening on ${service.baseUrl}, the media origin on ${origin.baseUrl}`);
  for (const sample of DEMO_SAMPLES) terminal.say(await describeSample(sample, service.baseUrl, origin.baseUrl));
  terminal.say('\nMore links: test/origin/README.md. Ctrl-C stops both.');
}

shutdownOnSignals(terminal, shutdown.close);

await demonstrate().catch(async (error: unknown) => {
  // After a signal, the shutdown under way exits the process first, with its own code.
  await shutdown.close();
  terminal.say(messageOf(error));
  process.exit(1);
});
