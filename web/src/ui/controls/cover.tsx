import { useEffect, useState } from 'preact/hooks';
import { Icon, type IconName } from './icons.tsx';

export interface CoverProps {
  readonly url: string | null | undefined;
  /** Shown without an image. */
  readonly fallback?: IconName;
  readonly isSmall?: boolean;
}

/** A whole cover image. The title next to it says the same, so it has no alternative text. */
export const Cover = ({ url, fallback = 'cover', isSmall }: CoverProps) => {
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
      ) : (
        <Icon name={fallback} />
      )}
    </div>
  );
};
