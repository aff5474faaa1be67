import { useEffect, useState } from 'preact/hooks';
import { Icon, type IconName } from './icons.tsx';

export interface CoverProps {
  readonly url: string | null | undefined;
  /** Shown without an image. */
  readonly fallback?: IconName;
  /** Fits the image instead of filling the box: music covers are square. */
  readonly isWhole?: boolean;
  readonly isSmall?: boolean;
}

/** A cover image. The title next to it says the same, so it has no alternative text. */
export const Cover = ({ url, fallback = 'cover', isWhole, isSmall }: CoverProps) => {
  const [isBroken, setBroken] = useState(false);
  const [isTall, setTall] = useState(false);
  useEffect(() => {
    setBroken(false);
    setTall(false);
  }, [url]);
  return (
    <div class={isSmall ? 'cover small' : 'cover'}>
      {url && !isBroken && isTall && !isSmall && (
        <img class="backdrop" src={url} alt="" decoding="async" referrerpolicy="no-referrer" />
      )}
      {url && !isBroken ? (
        <img
          key={url}
          class={isWhole || isTall ? 'whole' : undefined}
          src={url}
          alt=""
          width="640"
          height="360"
          loading="lazy"
          decoding="async"
          referrerpolicy="no-referrer"
          // A square or portrait cover would lose its top and bottom.
          onLoad={({ currentTarget }) => setTall(currentTarget.naturalHeight >= currentTarget.naturalWidth)}
          onError={() => setBroken(true)}
        />
      ) : (
        <Icon name={fallback} />
      )}
    </div>
  );
};
