import { useEffect, useState } from 'preact/hooks';
import { Icon } from './controls.tsx';

interface CoverProps {
  readonly url: string | null | undefined;
  /** The link of the item, for the tile in place of an image. */
  readonly link?: string | null | undefined;
  readonly isSmall?: boolean;
}

/** A whole cover image, or a tile in its place. The title next to it says the same, so it has no alternative text. */
export const Cover = ({ url, link, isSmall }: CoverProps) => {
  const [isBroken, setBroken] = useState(false);
  useEffect(() => setBroken(false), [url]);
  const { letter, hue } = tileOf(link);
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
      ) : letter ? (
        <div class="tile" aria-hidden="true" style={{ '--hue': hue }}>
          {letter}
        </div>
      ) : (
        <Icon name="cover" />
      )}
    </div>
  );
};

/** The first letter of the host of a link, and a colour of the host: a hue in degrees. */
export function tileOf(link: string | null | undefined) {
  const host = URL.parse(link ?? '')?.hostname.replace(/^(?:www|m)\./, '') ?? '';
  return { letter: host[0], hue: [...host].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 360, 7) };
}
