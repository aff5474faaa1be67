import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiFailure } from '../lib/api.ts';
import type { Choice } from '../lib/choices.ts';
import type { Texts } from '../lib/texts.ts';
import { untilStreamable, type Waiting } from '../lib/waiting.ts';
import { usePage } from './context.ts';
import { Cover } from './cover.tsx';
import { streamFailureText } from './failure-text.ts';
import { Icon } from './icons.tsx';
import { toFailure } from './session.ts';

export interface PlayerProps {
  readonly choice: Choice;
  readonly title: string;
  readonly coverUrl: string | null;
  readonly onClose: () => void;
}

type Trouble =
  | { readonly kind: 'waiting'; readonly waiting: Waiting }
  | { readonly kind: 'failed'; readonly failure: ApiFailure }
  | { readonly kind: 'unsupported' | 'interrupted' };

/** Plays one choice with the browser's own controls, in the box that the cover had. */
export const Player = ({ choice, title, coverUrl, onClose }: PlayerProps) => {
  const { api, texts } = usePage();
  const { t } = texts;
  const url = api.streamUrl(choice.rendition);
  const [trouble, setTrouble] = useState<Trouble>();
  const media = useRef<HTMLVideoElement & HTMLAudioElement>(null);
  const asking = useRef<AbortController>(null);
  const hasAsked = useRef(false);

  useEffect(() => {
    media.current?.focus({ preventScroll: true });
    return () => asking.current?.abort();
  }, []);

  const again = () => {
    setTrouble(undefined);
    media.current?.load();
    // Where playing by itself is not allowed, the controls are there.
    media.current?.play().catch(() => undefined);
  };
  // A media element does not say why it failed: the stream itself is asked.
  const explain = async () => {
    if (hasAsked.current) {
      setTrouble({ kind: media.current?.currentTime ? 'interrupted' : 'unsupported' });
      return;
    }
    asking.current = new AbortController();
    const { signal } = asking.current;
    try {
      await untilStreamable(url, { signal, onWaiting: (waiting) => setTrouble({ kind: 'waiting', waiting }) });
      hasAsked.current = true;
      again();
    } catch (error) {
      if (!signal.aborted) setTrouble({ kind: 'failed', failure: toFailure(error) });
    }
  };
  const retry = () => {
    hasAsked.current = false;
    again();
  };

  const common = {
    ref: media,
    src: url,
    controls: true,
    autoplay: true,
    preload: 'metadata',
    'aria-label': t('player.label', { title }),
    onError: explain,
    onPlaying: () => {
      hasAsked.current = false;
    },
  } as const;
  const words = trouble && wordsOf(texts, trouble);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape is a shortcut; the button beside it does the same.
    <div class="player" onKeyDown={({ key }) => key === 'Escape' && !document.fullscreenElement && onClose()}>
      {choice.element === 'audio' ? (
        <>
          <Cover url={coverUrl} fallback="music" isWhole />
          <audio {...common} />
        </>
      ) : (
        <video {...common} playsInline poster={coverUrl ?? undefined} />
      )}
      {words && (
        <div class="player-message" role="alert">
          <p>
            <strong>{words.title}</strong>
          </p>
          {words.what && <p>{words.what}</p>}
          {trouble.kind !== 'waiting' && trouble.kind !== 'unsupported' && (
            <button type="button" class="button small" onClick={retry}>
              <Icon name="retry" />
              {t('action.retry')}
            </button>
          )}
        </div>
      )}
      <button type="button" class="button square small player-close" aria-label={t('player.close')} onClick={onClose}>
        <Icon name="close" />
      </button>
    </div>
  );
};

function wordsOf(texts: Texts, trouble: Trouble): { title: string; what?: string } {
  switch (trouble.kind) {
    case 'waiting':
      return {
        title: texts.t(`waiting.${trouble.waiting.reason}`),
        what: texts.t(`waiting.${trouble.waiting.reason}.what`),
      };
    case 'failed':
      return streamFailureText(texts, trouble.failure);
    default:
      return { title: texts.t(`player.${trouble.kind}`) };
  }
}
