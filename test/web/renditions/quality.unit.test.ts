import jsQR from 'jsqr';
import { describe, expect, it } from 'vitest';
import { shareableLocation } from '../../../web/src/links.ts';
import { preferenceFromQuality, qualityOf } from '../../../web/src/renditions/choice.ts';
import { qrCodeOf } from '../../../web/src/ui/item/actions.tsx';
import { createFormatStore } from '../../../web/src/ui/preferences.ts';
import { createMemoryStore } from '../fakes/memory-store.ts';

describe('preferenceFromQuality', () => {
  it.each([
    ['1080p', { group: 'video', height: 1080 }],
    ['best', { group: 'video', height: Number.POSITIVE_INFINITY }],
    ['audio', { group: 'audio', container: undefined }],
    ['mp3', { group: 'audio', container: 'MP3' }],
  ])('reads %s as qualityOf writes it', (quality, preference) => {
    expect(preferenceFromQuality(quality)).toEqual(preference);
    expect(qualityOf(preference as Parameters<typeof qualityOf>[0])).toBe(quality);
  });

  it.each([null, '', '1080', '0p', '-5p', '1e3p', '999999p', 'MP3', 'p'])('ignores %s', (quality) =>
    expect(preferenceFromQuality(quality)).toBeUndefined(),
  );
});

describe('shareableLocation', () => {
  it('holds the link and the format', () => {
    expect(shareableLocation(['https://a.example/?x=1&quality=2'], '720p')).toBe(
      '/?url=https%3A%2F%2Fa.example%2F%3Fx%3D1%26quality%3D2&quality=720p',
    );
  });
});

describe('createFormatStore', () => {
  it('uses the format of the open link without storing it', () => {
    const store = createMemoryStore();
    const formats = createFormatStore(store);
    formats.set({ group: 'video', height: 720 });
    formats.setForLink({ group: 'audio' });
    expect(formats.get()).toEqual({ group: 'audio' });
    expect(createFormatStore(store).get()).toEqual({ group: 'video', height: 720 });
    formats.setForLink(undefined);
    expect(formats.get()).toEqual({ group: 'video', height: 720 });
    // What the visitor selects after opening the link.
    formats.setForLink({ group: 'audio' });
    formats.set({ group: 'video', height: 360 });
    expect(formats.get()).toMatchObject({ group: 'video', height: 360 });
  });

  it('keeps what was selected of each group', () => {
    const store = createMemoryStore();
    createFormatStore(store).set({ group: 'video', height: 720, subtitles: 'de' });
    createFormatStore(store).set({ group: 'audio', container: 'MP3', bitrateKbps: 320, skipsSponsors: true });
    createFormatStore(store).set({ group: 'video', language: 'fr' });
    expect(createFormatStore(store).get()).toEqual({
      group: 'video',
      height: 720,
      container: 'MP3',
      bitrateKbps: 320,
      language: 'fr',
      subtitles: 'de',
      skipsSponsors: true,
    });
    createFormatStore(store).set({ group: 'audio', container: 'WAV', bitrateKbps: undefined, language: undefined });
    expect(createFormatStore(store).get()).toMatchObject({ container: 'WAV', height: 720 });
    expect(createFormatStore(store).get()?.language).toBeUndefined();
  });

  it.each(['{', '7', '{"group":"radio"}', 'null', '[]'])('ignores %s of another version', (text) =>
    expect(createFormatStore(createMemoryStore({ 'reelay.format': text })).get()).toBeUndefined(),
  );
});

/** Draws a code at four pixels per module, as a camera would see it. */
function pixelsOf({ size, path }: NonNullable<Awaited<ReturnType<typeof qrCodeOf>>>) {
  const width = size * 4;
  const pixels = new Uint8ClampedArray(width * width * 4).fill(255);
  for (const [, x, y] of path.matchAll(/M(\d+) (\d+)h1v1h-1z/g))
    for (let row = 0; row < 4; row++) {
      const start = ((Number(y) * 4 + row) * width + Number(x) * 4) * 4;
      for (let column = 0; column < 4; column++) pixels.fill(0, start + column * 4, start + column * 4 + 3);
    }
  return { pixels, width };
}

describe('qrCodeOf', () => {
  it.each(['https://r.example/?url=https%3A%2F%2Fa.example%2Fwatch%3Fv%3D1&quality=1080p', 'https://ü.example/日本'])(
    'encodes %s',
    async (text) => {
      const code = await qrCodeOf(text);
      if (!code) return expect.fail('no code');
      const { pixels, width } = pixelsOf(code);
      expect(jsQR(pixels, width, width)?.data).toBe(text);
    },
  );

  it('rejects a text that exceeds the largest code', async () => {
    expect(await qrCodeOf('x'.repeat(2954))).toBeUndefined();
    expect((await qrCodeOf('x'.repeat(2953)))?.size).toBe(177 + 8);
  });
});
