/** `npm run dev -- demo`: Reelay and a media origin, with links to paste, with `--curl` also with commands. Needs the internet only for its tools. */

import { type AddressInfo, createServer } from 'node:net';
import { resolve } from 'node:path';
import { createShutdownStack } from '@reelay/concurrency';
import type { Schema } from '../core/api/index.ts';
import { readSettings } from '../core/config/index.ts';
import { messageOf } from '../core/errors/index.ts';
import { ensureMedia } from '../test/origin/media.ts';
import { type Origin, startOrigin } from '../test/origin/server.ts';
import { findFreePort, listen, shutdownOnSignals } from './process.ts';
import { startService } from './service/index.ts';
import { createProcessLog, createTerminal } from './terminal.ts';

const HOST = '127.0.0.1';
/** Where they are free: links and keys are then the same every time. */
const [PORT, ORIGIN_PORT] = [8080, 8090];
const PLUGIN_DIR = resolve(import.meta.dirname, '../test/origin/plugin');

const terminal = createTerminal(process.stdout);
const shutdown = createShutdownStack();

/** Starts both, then prints a link of each kind. */
async function demonstrate(): Promise<void> {
  // Taken before the service starts, which lets requests out to this port alone.
  const listener = createServer();
  await listen(listener, { host: HOST, port: await findFreePort(HOST, ORIGIN_PORT) });
  shutdown.defer(() => void listener.close());
  const { port: originPort } = listener.address() as AddressInfo;
  let origin: Origin | undefined;
  const samples = () => {
    const base = origin?.baseUrl;
    return base
      ? DEMO_SAMPLES.filter(({ isOnPage }) => isOnPage).map(({ title, path }) => ({ title, url: base + path }))
      : [];
  };
  // Registered before the service, hence closed after it: running streams can finish.
  shutdown.defer(() => origin?.close());
  const port = process.env.PORT ?? String(await findFreePort(HOST, PORT));
  const service = shutdown.own(
    await startService({
      settings: readSettings({ ...process.env, PORT: port, EGRESS_ALLOW: `${HOST}:${originPort}` }),
      log: createProcessLog(process.stderr, terminal),
      onProgress: terminal.progress,
      onNotice: terminal.say,
      pluginDirs: [PLUGIN_DIR],
      samples,
    }),
  );
  terminal.say(`Reelay listening on ${service.baseUrl}; links follow once there are tools and media`);
  const { ffmpeg } = await service.ready;
  terminal.progress({ name: 'Making media to try' });
  const mediaDir = await ensureMedia({ ffmpegPath: ffmpeg.path });
  origin = await startOrigin({ listener, mediaDir });
  terminal.done();

  terminal.say(`Open ${service.baseUrl} and try one of its results, or paste one of these links:\n`);
  for (const { title, path } of DEMO_SAMPLES) terminal.say(`  ${origin.baseUrl}${path}  ${title}`);
  if (process.argv.includes('--curl'))
    for (const sample of DEMO_SAMPLES) terminal.say(await describeSample(sample, service.baseUrl, origin.baseUrl));
  else terminal.say('\n--curl prints commands for them as well.');
  terminal.say('More links: test/origin/README.md. Ctrl-C stops both.');
}

/** A link of the origin that shows one kind of media. */
interface DemoSample {
  readonly title: string;
  readonly path: string;
  /** The start page links to it. */
  readonly isOnPage?: true;
}

const DEMO_SAMPLES: readonly DemoSample[] = [
  { title: 'A file', path: '/files/long.mp4' },
  { title: 'A page with a video', path: '/pages/video' },
  { title: 'A video in several qualities', path: '/site/watch/demo', isOnPage: true },
  { title: 'A stream in parts (HLS)', path: '/hls/master.m3u8' },
  { title: 'A stream in parts (DASH)', path: '/dash/timeline/manifest.mpd' },
  { title: 'Music', path: '/site/music/demo', isOnPage: true },
  { title: 'A podcast', path: '/feeds/podcast.xml', isOnPage: true },
  { title: 'A live stream', path: '/live/index.m3u8' },
  { title: 'Protected', path: '/hls/drm.m3u8' },
  { title: 'Nothing there', path: '/trouble/404' },
];

/** The commands for a sample: the resolve, then a stream of the best video, the best audio and the conversion. */
async function describeSample({ title, path }: DemoSample, service: string, origin: string): Promise<string> {
  const link = origin + path;
  const answer = await fetch(`${service}/api/Fetch/GetResource?url=${encodeURIComponent(link)}`);
  const resolve = `curl -sG ${service}/api/Fetch/GetResource --data-urlencode 'url=${link}'`;
  const lines = answer.ok ? streamsOf((await answer.json()) as Schema<'ResourceInformation'>, service) : [];
  const status = answer.ok ? '' : `  # ${answer.status}`;
  return ['', title, `  ${resolve}${status}`, ...lines.map((line) => `  ${line}`)].join('\n');
}

/** Each once: a file with both tracks is the best video and the best audio. */
const streamsOf = ({ mediaItems }: Schema<'ResourceInformation'>, service: string): string[] => [
  ...new Set(
    mediaItems
      .slice(0, 1)
      .flatMap(choose)
      .map((rendition) => command(rendition, service)),
  ),
];

/** The best video, the best audio, and the conversion. */
function choose({ video, audio }: Schema<'MediaInformation'>): Schema<'MediaRendition'>[] {
  const audios = audio?.renditions ?? [];
  const chosen = [video?.renditions[0], audios[0], audios.find(({ convertTo }) => convertTo)];
  return chosen.filter((rendition) => rendition !== undefined);
}

const command = (
  { urlType, key, convertTo, label, fileExtension }: Schema<'MediaRendition'>,
  service: string,
): string =>
  `curl -OJ '${service}/api/Stream/${urlType ?? 'Media'}/${key}${convertTo ? `?format=${convertTo}` : ''}'  # ${label} ${fileExtension}`;

shutdownOnSignals(terminal, shutdown.close);

await demonstrate().catch(async (error: unknown) => {
  // After a signal, the shutdown under way exits the process first, with its own code.
  await shutdown.close();
  terminal.done();
  terminal.say(messageOf(error));
  process.exit(1);
});
