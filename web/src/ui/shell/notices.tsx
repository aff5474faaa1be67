import type { ComponentChildren } from 'preact';
import type { ApiFailure, Waiting } from '../../api/index.ts';
import { usePage } from '../context.ts';
import { Icon, type IconName, NextTry } from '../controls/index.ts';
import { failureText, isWorthRetrying, progressText } from '../failure-text.ts';

export interface NoticeProps {
  readonly look: 'bad' | 'waiting';
  readonly icon: IconName;
  readonly title: string;
  readonly children: ComponentChildren;
}

export const Notice = ({ look, icon, title, children }: NoticeProps) => (
  <section class={`panel notice ${look}`}>
    <span class="notice-icon">
      <Icon name={icon} />
    </span>
    <div>
      <h2>{title}</h2>
      {children}
    </div>
  </section>
);

const ICONS: Readonly<Partial<Record<ApiFailure['kind'], IconName>>> = {
  'bad-link': 'link',
  'not-found': 'search',
  refused: 'lock',
  offline: 'offline',
  unreachable: 'offline',
  maintenance: 'clock',
  'too-many': 'clock',
};

export interface FailureNoticeProps {
  readonly failure: ApiFailure;
  /** The link that failed. */
  readonly link?: string;
  readonly onRetry: () => void;
}

/** A failure with its explanation and a retry button. */
export const FailureNotice = ({ failure, link, onRetry }: FailureNoticeProps) => {
  const { texts } = usePage();
  const { title, what } = failureText(texts, failure, link);
  return (
    <Notice look="bad" icon={ICONS[failure.kind] ?? 'alert'} title={title}>
      <p>{what}</p>
      {isWorthRetrying(failure) && (
        <div class="row notice-actions">
          <button type="button" class="button" onClick={onRetry}>
            <Icon name="retry" />
            {texts.t('action.retry')}
          </button>
        </div>
      )}
    </Notice>
  );
};

export interface WaitingNoticeProps {
  readonly waiting: Waiting;
  readonly onStop: () => void;
}

/** A temporary condition that is being waited out. */
export const WaitingNotice = ({ waiting, onStop }: WaitingNoticeProps) => {
  const { texts } = usePage();
  const { t } = texts;
  const { reason, progress } = waiting;
  return (
    <Notice look="waiting" icon="clock" title={t(`waiting.${reason}`)}>
      <p>{t(`waiting.${reason}.what`)}</p>
      {progress && <p class="figures">{progressText(texts, progress)}</p>}
      {/* With a key: an element that has had a value keeps it. */}
      <progress
        key={`${progress?.step} ${progress?.tool} ${progress?.totalBytes}`}
        aria-label={t(`waiting.${reason}`)}
        max={progress?.totalBytes}
        value={progress?.totalBytes && progress.receivedBytes}
      />
      <div class="row notice-actions">
        <button type="button" class="button" onClick={onStop}>
          {t('waiting.stop')}
        </button>
        <p class="notice-countdown">
          <NextTry waiting={waiting} />
        </p>
      </div>
    </Notice>
  );
};
