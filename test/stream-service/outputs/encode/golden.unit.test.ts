import { expect, it } from 'vitest';
import { encodedFormats } from '../../../../stream-service/outputs/encode/encoded-formats.ts';
import { resourceOf, trackOf } from '../../fixture.ts';

/** What stands in front of the frames, and how many there are, as `golden.txt` has it: a change that is meant is written by `-u`. */
it('writes tags and headers of MP3 and WAV, and their numbers of frames', async () => {
  const track = trackOf('a', { video: null });
  const skipped = { startSeconds: 1.5, endSeconds: 60, skipped: [{ startSeconds: 5, endSeconds: 7.25 }] };
  const selections = [
    {},
    { bitrateKbps: 128 },
    { bitrateKbps: 256 },
    { bitrateKbps: 320 },
    { clip: { startSeconds: 2.34, endSeconds: 9.87 } },
    { clip: skipped },
  ] as const;
  const lines = [0.01, 61.7].flatMap((durationSeconds) =>
    selections.flatMap((selected) =>
      (['mp3', 'wav'] as const).map((name) => {
        const title = `${name} of ${durationSeconds} s ${JSON.stringify(selected)}`;
        try {
          const made = encodedFormats[name].layOut(resourceOf([track], { durationSeconds }), track, selected);
          const layout = { ...made?.layout, ...(Object.keys(selected).length > 0 && { encoding: undefined }) };
          return `${title}\n  ${JSON.stringify(layout)}\n  ${made?.tag.toString('hex').replace(/(?:00)+$/, '')}`;
        } catch (error) {
          return `${title}\n  ${error}`;
        }
      }),
    ),
  );
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden.txt');
});
