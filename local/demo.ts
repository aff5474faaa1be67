/** `npm run demo`: Reelay with a media origin beside it, and commands to paste. Needs no internet but for its tools. */
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { createShutdownStack } from '../core/concurrency/index.ts';
import { readSettings } from '../core/config/index.ts';
import { ensureMedia } from '../test/origin/media.ts';
import { type Origin, startOrigin } from '../test/origin/server.ts';
import { DEMO_SAMPLES, describeSample } from './demo/index.ts';
import { createProcessLog, createTerminal, listen, shutdownOnSignals } from './process/index.ts';
import { startService } from './service.ts';

/** The same every time, so that links and keys are too. */
const ORIGIN_PORT = 8090;
const PLUGIN_DIR = resolve(import.meta.dirname, '../test/origin/plugin');

const terminal = createTerminal(process.stdout);
const ending = createShutdownStack();

/** Keeps the origin's port until there is media to serve: that it is taken shall be known before anything is fetched. */
async function holdPort(): Promise<{ close(): Promise<void> }> {
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

/** Starts both, then says what can be done with each kind of link. */
async function demonstrate(): Promise<void> {
  const port = process.env.PORT ?? '8080';
  const settings = readSettings({ ...process.env, PORT: port, EGRESS_ALLOW: `127.0.0.1:${ORIGIN_PORT}` });
  const held = ending.own(await holdPort());
  let origin: Origin | undefined;
  // Before the service, so that it ends after it: running streams may finish.
  ending.own({ close: async () => origin?.close() });
  const service = ending.own(
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
  await held.close();
  origin = await startOrigin({ port: ORIGIN_PORT, mediaDir });

  terminal.say(`Reelay answers at ${service.baseUrl}, the media origin at ${origin.baseUrl}`);
  for (const exhibit of DEMO_SAMPLES) terminal.say(await describeSample(exhibit, service.baseUrl, origin.baseUrl));
  terminal.say('\nMore links: test/origin/README.md. Ctrl-C ends both.');
}

shutdownOnSignals(terminal, ending.close);

await demonstrate().catch(async (error: unknown) => {
  // First: what ends because of a signal has its own exit code, and nothing to say.
  await ending.close();
  terminal.say(error instanceof Error ? error.message : String(error));
  process.exit(1);
});
