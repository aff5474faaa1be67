import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import { readBoundedLines } from '../src/worker/worker-client.ts';

async function read(chunks: readonly (string | Buffer)[], maxBytes = 5) {
  const lines: string[] = [];
  const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  readBoundedLines(stream, {
    maxBytes,
    onLine: (line) => lines.push(line.toString()),
    onTooLong: (beginning) => lines.push(`${beginning}…`),
  });
  await finished(stream);
  return lines;
}

describe('readBoundedLines', () => {
  it.each<[string, (string | Buffer)[], string[]]>([
    ['nothing', [], []],
    ['lines in one chunk', ['a\nb\n'], ['a', 'b']],
    ['a line in many chunks', ['a', 'b', '\n'], ['ab']],
    ['empty lines', ['\n\n'], ['', '']],
    ['a last line without a line feed', ['a\nb'], ['a']],
    ['a line of exactly maxBytes', ['abcde\n'], ['abcde']],
    ['a longer line, followed by another', ['abcdef\nb\n'], ['abcde…', 'b']],
    ['a much longer line in chunks', ['abcdef', 'ghi', 'jkl\nb\n'], ['abcde…', 'b']],
    ['a character split between chunks', [Buffer.from([0xc3]), Buffer.from([0xa9, 10])], ['é']],
    ['invalid UTF-8', [Buffer.from([0xff, 10])], ['\ufffd']],
  ])('reads %s', async (_, chunks, lines) => expect(await read(chunks)).toEqual(lines));
});
