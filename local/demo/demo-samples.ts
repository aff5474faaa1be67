import type { MediaInformation, MediaRendition, ResourceInformation } from '../../lambdas/api/index.ts';

/** A link of the origin that shows one kind of media. */
export interface DemoSample {
  readonly title: string;
  readonly path: string;
}

export const DEMO_SAMPLES: readonly DemoSample[] = [
  { title: 'A file', path: '/files/long.mp4' },
  { title: 'A page with a video', path: '/pages/video' },
  { title: 'Separate video and audio, behind rules', path: '/site/watch/demo' },
  { title: 'HLS with its audio in a group', path: '/hls/master.m3u8' },
  { title: 'DASH', path: '/dash/timeline/manifest.mpd' },
  { title: 'Music', path: '/site/music/demo' },
  { title: 'A podcast', path: '/feeds/podcast.xml' },
  { title: 'A live stream', path: '/live/index.m3u8' },
  { title: 'Protected', path: '/hls/drm.m3u8' },
  { title: 'Nothing there', path: '/trouble/404' },
];

/** The commands for a sample: the resolve, then a stream of the best video, the best audio and the conversion. */
export async function describeSample({ title, path }: DemoSample, service: string, origin: string): Promise<string> {
  const link = origin + path;
  const answer = await fetch(`${service}/api/Fetch/GetResource?url=${encodeURIComponent(link)}`);
  const resolve = `curl -sG ${service}/api/Fetch/GetResource --data-urlencode 'url=${link}'`;
  const lines = answer.ok ? streamsOf((await answer.json()) as ResourceInformation, service) : [];
  const status = answer.ok ? '' : `  # ${answer.status}`;
  return ['', title, `  ${resolve}${status}`, ...lines.map((line) => `  ${line}`)].join('\n');
}

/** Each once: a file with both tracks is the best video and the best audio. */
const streamsOf = ({ mediaItems }: ResourceInformation, service: string): string[] => [
  ...new Set((mediaItems?.slice(0, 1) ?? []).flatMap(choose).map((rendition) => command(rendition, service))),
];

/** The best video, the best audio, and the conversion. */
function choose({ video, audio }: MediaInformation): MediaRendition[] {
  const audios = audio?.renditions ?? [];
  const chosen = [video?.renditions?.[0], audios[0], audios.find(({ convertTo }) => convertTo)];
  return chosen.filter((rendition) => rendition !== undefined);
}

const command = ({ urlType, key, convertTo, label, fileExtension }: MediaRendition, service: string): string =>
  `curl -OJ '${service}/api/Stream/${urlType ?? 'Media'}/${key}${convertTo ? `?format=${convertTo}` : ''}'  # ${label} ${fileExtension}`;
