import { describe, expect, it } from 'vitest';
import { type Api, createApi, type MediaDetails } from '../../../web/src/api/index.ts';
import { createTexts } from '../../../web/src/texts.ts';
import { loadDetails, loadSponsors, subtitleName } from '../../../web/src/ui/details.ts';
import { DETAILS, SEGMENTS } from '../fakes/resources.ts';

describe('subtitleName', () => {
  const german = createTexts('de', {});
  const named = (language: string, name: string | null) => ({ key: 'k', language, name, isAutomatic: false });
  it.each([
    ['the language, whatever the site calls it', [named('en', 'English')], 'Englisch'],
    [
      'the name of the site where two are alike',
      [named('en', 'English SDH'), named('en', 'English')],
      'Englisch (English SDH)',
    ],
    ['the name of the site for what is no language', [named('x9', 'Song texts')], 'Song texts'],
  ])('is %s', (_, all, name) => expect(subtitleName(all[0] ?? expect.fail(), all, german)).toBe(name));
});

/** What an instance answers. */
const api = (details: MediaDetails): Api => ({
  ...createApi('https://a.example'),
  getDetails: async () => details,
  getSegments: async () => SEGMENTS.segments,
});

describe('loadDetails', () => {
  it('has the time of this device at which the site serves it', async () => {
    const from = Date.now();
    const { availableAtMs } = await loadDetails(api({ ...DETAILS, availableInSeconds: 60 }), 'https://b.example/');
    expect(availableAtMs).toBeGreaterThanOrEqual(from + 60_000);
  });
});

describe('loadSponsors', () => {
  it('leaves other segments out', async () =>
    expect(await loadSponsors(api(DETAILS), 'segments')).toEqual([
      { category: 'sponsor', startSeconds: 60, endSeconds: 120 },
    ]));
});
