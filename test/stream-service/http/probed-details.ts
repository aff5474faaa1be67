import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram, withTemporaryFolder } from '../../support/media-tools.ts';

interface Probed {
  readonly chapters: readonly {
    readonly start_time: string;
    readonly end_time: string;
    readonly tags: { title: string };
  }[];
  readonly format: { readonly tags?: Readonly<Record<string, string>> };
  readonly streams: readonly { readonly codec_name: string; readonly tags?: Readonly<Record<string, string>> }[];
}

/** What ffprobe reads of a media body: chapters by title and start, in seconds, the end of the last one, codecs and tags. */
export const detailsOf = (body: Buffer, extension = '.mp4') =>
  withTemporaryFolder(async (folder) => {
    const file = join(folder, `body${extension}`);
    await writeFile(file, body);
    const shown = ['-show_chapters', '-show_format', '-show_streams'];
    const { output } = await runProgram('ffprobe', ['-v', 'error', '-of', 'json', ...shown, file]);
    // What it complains about is no JSON.
    const { chapters, format, streams }: Probed = JSON.parse(output);
    return {
      chapters: chapters.map(({ tags, start_time: at }) => [tags.title, Math.round(Number(at) * 10) / 10] as const),
      end: Number(chapters.at(-1)?.end_time),
      codecs: streams.map(({ codec_name: codec }) => codec),
      tags: { ...streams[0]?.tags, ...format.tags },
    };
  });
