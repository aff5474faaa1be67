import type { ApiFailure, Waiting } from '../../api/index.ts';
import type { Texts } from '../../lib/index.ts';
import { usePage } from '../context.ts';
import { Icon, NextTry } from '../controls/index.ts';
import { streamFailureText } from '../failure-text.ts';

/** Why nothing plays. */
export type PlaybackProblem =
  | { readonly kind: 'waiting'; readonly waiting: Waiting }
  | { readonly kind: 'failed'; readonly failure: ApiFailure }
  | { readonly kind: 'unsupported' | 'interrupted' };

export interface PlayerMessageProps {
  readonly trouble: PlaybackProblem;
  readonly onRetry: () => void;
}

/** Explains over the player why nothing plays. */
export const PlayerMessage = ({ trouble, onRetry }: PlayerMessageProps) => {
  const { texts } = usePage();
  const { title, what } = textOf(texts, trouble);
  return (
    <div class="player-message">
      <div role="alert">
        <p>
          <strong>{title}</strong>
        </p>
        {what && <p>{what}</p>}
      </div>
      {trouble.kind === 'waiting' && <NextTry waiting={trouble.waiting} />}
      {(trouble.kind === 'failed' || trouble.kind === 'interrupted') && (
        <button type="button" class="button small" onClick={onRetry}>
          <Icon name="retry" />
          {texts.t('action.retry')}
        </button>
      )}
    </div>
  );
};

function textOf(texts: Texts, trouble: PlaybackProblem): { title: string; what?: string } {
  switch (trouble.kind) {
    case 'waiting': {
      const { reason } = trouble.waiting;
      return { title: texts.t(`waiting.${reason}`), what: texts.t(`waiting.${reason}.what`) };
    }
    case 'failed':
      return streamFailureText(texts, trouble.failure);
    default:
      return { title: texts.t(`player.${trouble.kind}`) };
  }
}
