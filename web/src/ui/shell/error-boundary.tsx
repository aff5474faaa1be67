import type { ComponentChildren } from 'preact';
import { useErrorBoundary } from 'preact/hooks';
import { usePage } from '../context.ts';
import { Notice } from './notices.tsx';

/** Shows a notice in place of components that throw while they are rendered: the last resort instead of a blank page. */
export const ErrorBoundary = ({ children }: { readonly children: ComponentChildren }) => {
  const { t } = usePage().texts;
  const [error] = useErrorBoundary((cause) => console.error(cause));
  if (!error) return <>{children}</>;
  return (
    <main class="wrap">
      <h1 class="hero small">{t('app.name')}</h1>
      <Notice look="bad" icon="alert" title={t('crash.title')}>
        <p>{t('crash.what')}</p>
        <div class="notice-actions">
          <button type="button" class="button" onClick={() => location.assign('/')}>
            {t('crash.restart')}
          </button>
        </div>
      </Notice>
    </main>
  );
};
