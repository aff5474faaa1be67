/** `npm run demo`: Reelay with a media origin beside it, and commands to paste. Needs no internet but for its tools. */
import { resolve } from 'node:path';
import { readSettings } from '../layers/settings/index.ts';
import { ensureMedia } from '../test/origin/media.ts';
import { startOrigin } from '../test/origin/server.ts';
import { describeExhibit, EXHIBITS } from './demo-exhibits.ts';
import { createProcessLog } from './process-log.ts';
import { startService } from './service.ts';
import { createTerminal } from './terminal.ts';

/** The same every time, so that links and keys are too. */
const ORIGIN_PORT = 8090;
const PLUGIN_DIR = resolve(import.meta.dirname, '../test/origin/plugin');

const terminal = createTerminal(process.stdout);
const ending: (() => Promise<void>)[] = [];

async function end(code: number): Promise<never> {
  for (const close of ending.splice(0).reverse()) await close();
  process.exit(code);
}

/** Starts both, then says what can be done with each kind of link. */
async function demonstrate(): Promise<void> {
  const port = process.env.PORT ?? '8080';
  const settings = readSettings({ ...process.env, PORT: port, EGRESS_ALLOW: `127.0.0.1:${ORIGIN_PORT}` });
  const service = await startService({
    settings,
    log: createProcessLog(process.stderr),
    onProgress: ({ name, bytes, totalBytes }) => terminal.progress(name, bytes, totalBytes),
    pluginDirs: [PLUGIN_DIR],
  });
  ending.push(() => service.close());
  const { ffmpeg } = await service.ready;
  terminal.progress('Making media to try');
  const mediaDir = await ensureMedia({ ffmpegPath: ffmpeg.path });
  const origin = await startOrigin({ port: ORIGIN_PORT, mediaDir });
  ending.push(() => origin.close());

  terminal.say(`Reelay answers at ${service.baseUrl}, the media origin at ${origin.baseUrl}`);
  for (const exhibit of EXHIBITS) terminal.say(await describeExhibit(exhibit, service.baseUrl, origin.baseUrl));
  terminal.say('\nMore links: test/origin/README.md. Ctrl-C ends both.');
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void end(0));

await demonstrate().catch((error: unknown) => {
  terminal.say(error instanceof Error ? error.message : String(error));
  return end(1);
});
