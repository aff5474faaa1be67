import { useEffect, useState } from 'preact/hooks';
import { Icon, type IconName } from './icons.tsx';

export interface CoverProps {
  readonly url: string | null | undefined;
  /** What stands there without a picture. */
  readonly fallback?: IconName;
  /** Shown whole rather than filling its box: covers of music are square. */
  readonly isWhole?: boolean;
  readonly isSmall?: boolean;
}

/** A picture in a box of fixed shape. It says nothing that the title beside it does not: no alternative text. */
export const Cover = ({ url, fallback = 'cover', isWhole, isSmall }: CoverProps) => {
  const [isBroken, setBroken] = useState(false);
  useEffect(() => setBroken(false), [url]);
  return (
    <div class={isSmall ? 'cover small' : 'cover'}>
      {url && !isBroken ? (
        <img
          class={isWhole ? 'whole' : undefined}
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
