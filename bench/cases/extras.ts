import type { Bench, Case } from '../bench.ts';
import { firstByteMs, measureLoad, take } from '../clients.ts';
import { type Figure, inTurn } from '../figures.ts';
import type { Format } from '../origin.ts';

const RUNS = 9;
const DOWNLOADS = 5;
const LANGUAGES = ['en', 'de', 'fr', 'ja', 'pt'] as const;
const CHAPTERS = [0, 20, 40].map((start) => ({ start_time: start, end_time: start + 20, title: `From ${start} s` }));
const PAIRS = [
  { form: 'fragmented', video: 'indexed.mp4', audio: 'indexed.m4a' },
  { form: 'progressive', video: 'video.mp4', audio: 'audio.m4a' },
] as const;

/** What the file of a pair can have besides, beside the pair itself. All layouts are known. */
export const extras: Case = async function* (bench) {
  for (const pair of PAIRS) {
    const url = await publish(bench, pair);
    const all = `${url}?audio=all`;
    const speed = async (from: string) => (await measureLoad(bench.service, from)).speed;
    await take(all);
    const figures = await inTurn(
      DOWNLOADS,
      () => speed(all),
      () => speed(url),
    );
    yield { what: `${pair.form}, five languages`, ...figures, rivalName: 'the pair', unit: 'MB/s', atLeast: 0.8 };
    for (const query of ['audio=all', 'audio=de', 'chapter=2', 'tags=true'])
      yield await firstByte(url, query, pair.form);
  }
};

async function firstByte(url: string, query: string, form: string): Promise<Figure> {
  const ours = `${url}?${query}`;
  await firstByteMs(ours);
  const figures = await inTurn(
    RUNS,
    () => firstByteMs(ours),
    () => firstByteMs(url),
  );
  return { what: `${form}, ${query}, first byte`, ...figures, rivalName: 'the pair', unit: 'ms', atMost: 2 };
}

/** @returns the address of a pair whose audio is there in five languages, each a file of its own, and which has chapters */
async function publish({ origin, stream }: Bench, { form, video, audio }: (typeof PAIRS)[number]): Promise<string> {
  const sounds = LANGUAGES.map((language): Format => ({ file: audio, holds: 'audio', language }));
  await origin.publish(`extras-${form}`, [{ file: video, holds: 'video' }, ...sounds], 60, CHAPTERS);
  return (await stream(`extras-${form}`)).replace('/Combined/', '/Media/');
}
