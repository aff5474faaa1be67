import { expect, it } from 'vitest';
import { followRanges, hasRanges } from '../../../web/src/ui/ranges.ts';
import { serve } from '../fakes/serve.ts';

it.each([
  ['a file', 200, { 'accept-ranges': 'bytes' }, true],
  ['what is put together while it is sent', 200, { 'accept-ranges': 'none' }, false],
  ['what does not say', 200, {}, undefined],
  ['what cannot be sent now', 503, { 'accept-ranges': 'none' }, undefined],
])('whether a stream has ranges is what HEAD reports: %s', async (_, status, headers, expected) => {
  const methods: (string | undefined)[] = [];
  const url = await serve((request, response) => {
    methods.push(request.method);
    response.writeHead(status, headers).end();
  });
  expect(await hasRanges(url)).toBe(expected);
  expect(methods).toEqual(['HEAD']);
});

it('checks range support again while a stream has none, until it is stopped', async () => {
  const said = ['none', 'none', 'bytes'];
  let asked = 0;
  const url = await serve((_request, response) => {
    response.writeHead(200, { 'accept-ranges': said[asked] ?? 'none' }).end();
    asked += 1;
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  const answers: (boolean | undefined)[] = [];
  followRanges(
    url,
    (canSeek) => {
      answers.push(canSeek);
      if (canSeek) resolve();
    },
    [1, 1, 1],
  );
  await promise;
  expect([answers, asked]).toEqual([[false, false, true], 3]);
});
