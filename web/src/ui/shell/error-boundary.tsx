import type { ComponentChildren } from 'preact';
import { useErrorBoundary } from 'preact/hooks';
import { usePage } from '../context.ts';

/** Replaces components that throw while they are rendered by a notice: the last resort instead of a blank page. */
export const ErrorBoundary = ({ children }: { readonly children: ComponentChildren }) => {
  const { t } = usePage().texts;
  const [error] = useErrorBoundary((cause) => console.error(cause));
  if (!error) return <>{children}</>;
  return (
    <main class="wrap hero small">
      <h1>{t('crash.title')}</h1>
      <p class="lede">{t('failure.failed.what')}</p>
      <a class="button" href="/">
        {t('action.retry')}
      </a>
    </main>
  );
};
