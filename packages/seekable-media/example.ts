import { readFile } from 'node:fs/promises';
import { indexMovie, parseBoxes } from '@reelay/seekable-media/isobmff';
import { createLayout } from '@reelay/seekable-media/virtual-mp4';

// One MP4 of the video of the first file and the audio of the second: what each of its bytes is follows from the two headers.
const files = await Promise.all(process.argv.slice(2).map((path) => readFile(path)));
const headers = files.map((file) => {
  const moov = parseBoxes(file).find(({ type }) => type === 'moov') ?? { content: 0, end: 0 };
  return { movie: indexMovie(file.subarray(moov.content, moov.end)), moovOffset: moov.content, fileBytes: file.length };
});
const layout = createLayout(headers);
for (let at = 0; at < layout.size; ) {
  const { kind, source, sourceOffset, bytes } = layout.extentAt(at);
  const from = kind === 'own' ? layout.own : files[source];
  process.stdout.write(from?.subarray(sourceOffset, sourceOffset + bytes) ?? '');
  at += bytes;
}
