import { useEffect, useState } from 'preact/hooks';
import { Icon } from './controls.tsx';

interface CoverProps {
  readonly url: string | null | undefined;
  /** The link of the item, whose host gives the tile without an image its colour; without it an icon is shown. */
  readonly link?: string | null | undefined;
  readonly isAudio?: boolean;
  readonly isSmall?: boolean;
}

/** A whole cover image, or a tile in its place. The title next to it says the same, so it has no alternative text. */
export const Cover = ({ url, link, isAudio = false, isSmall }: CoverProps) => {
  const [isBroken, setBroken] = useState(false);
  useEffect(() => setBroken(false), [url]);
  return (
    <div class={isSmall ? 'cover small' : 'cover'}>
      {url && !isBroken ? (
        <img
          key={url}
          src={url}
          alt=""
          width="640"
          height="360"
          loading="lazy"
          decoding="async"
          referrerpolicy="no-referrer"
          onError={() => setBroken(true)}
        />
      ) : link ? (
        <Tile link={link} isAudio={isAudio} />
      ) : (
        <Icon name={isAudio ? 'music' : 'cover'} />
      )}
    </div>
  );
};

/** The first letter of the host, or for sound a waveform of its own for each link, in a colour of the host. */
const Tile = ({ link, isAudio }: { readonly link: string; readonly isAudio: boolean }) => {
  const { letter, hue } = tileOf(link);
  return (
    <div class="tile" aria-hidden="true" style={{ '--hue': hue }}>
      {isAudio ? (
        <svg viewBox="0 0 96 32" aria-hidden="true">
          <path d={waveformOf(link)} />
        </svg>
      ) : (
        letter
      )}
    </div>
  );
};

const hashOf = (text: string): number =>
  [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 65_521, 7);

/** @returns the hue in degrees */
export function tileOf(link: string): { readonly letter: string; readonly hue: number } {
  const host = URL.parse(link)?.hostname.replace(/^(?:www|m)\./, '') ?? '';
  return { letter: host[0] ?? '', hue: hashOf(host) % 360 };
}

/** Bars whose heights follow from a text. */
export const waveformOf = (text: string): string =>
  Array.from({ length: 24 }, (_, bar) => {
    const height = 3 + (hashOf(text + bar) % 22);
    return `M${bar * 4 + 2} ${16 - height / 2}v${height}`;
  }).join('');
