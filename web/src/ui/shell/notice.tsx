import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { isOnline } from '../../api/index.ts';
import { usePage } from '../context.ts';
import { Button, Icon, type IconName } from '../controls.tsx';
import { useOnline } from '../hooks.ts';

interface NoticeProps {
  readonly look: 'bad' | 'waiting';
  readonly icon: IconName;
  readonly title: string;
  readonly what: string;
  /** Absent when a retry would not help. */
  readonly onRetry?: (() => void) | undefined;
  readonly children?: ComponentChildren;
}

/** A message in the place of a result, which is announced. */
export const Notice = ({ look, icon, title, what, onRetry, children }: NoticeProps) => {
  const { t, announcement } = usePage();
  useEffect(() => announcement.set(`${title}. ${what}`), [title, what]);
  useOnline(icon === 'offline' ? onRetry : undefined);
  return (
    <section class={`panel notice ${look}`}>
      <span class="notice-icon">
        <Icon name={icon} />
      </span>
      <div>
        <h2>{title}</h2>
        <p>{what}</p>
        {children}
        {onRetry && (
          <div class="row notice-actions">
            <Button look="" icon="retry" onClick={onRetry}>
              {t('action.retry')}
            </Button>
          </div>
        )}
      </div>
    </section>
  );
};

/** Shown when the code of a result or of the player could not be loaded. */
export const UnloadedNotice = ({ onRetry }: { readonly onRetry: () => void }) => {
  const { t } = usePage();
  const word = isOnline() ? 'unreachable' : 'offline';
  // After a deployment the code has another URL, which only a reloaded page knows.
  const again = () => (isOnline() ? location.reload() : onRetry());
  return (
    <Notice look="bad" icon="offline" title={t(`failure.${word}`)} what={t(`failure.${word}.what`)} onRetry={again} />
  );
};
