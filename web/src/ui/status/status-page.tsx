import { useEffect } from 'preact/hooks';
import { usePage } from '../context.ts';
import { Icon } from '../controls/index.ts';
import { progressText } from '../failure-text.ts';
import { Footer, Header } from '../shell/index.ts';
import { useHealth } from './use-health.ts';

/** The page at `/status`, for operators. */
export const StatusPage = () => {
  const { texts, format, api } = usePage();
  const { t } = texts;
  const { health, isChecking, check } = useHealth();
  useEffect(() => {
    document.title = t('app.title', { title: t('status.title') });
  }, [texts]);
  const { info, requests, milliseconds, at } = health ?? {};
  const state = !health
    ? 'checking'
    : !info
      ? 'unreachable'
      : info.maintenance
        ? 'maintenance'
        : info.isHealthy
          ? 'good'
          : 'bad';
  // The activity itself is in English.
  const activity = info?.progress ? progressText(texts, info.progress) : info?.maintenance;
  const facts: readonly (readonly [name: string, value: string | undefined, language?: string])[] = [
    [t('status.health'), info && t(info.isHealthy ? 'status.healthy' : 'status.unhealthy')],
    [t('status.activity'), info && (activity ?? t('status.none')), activity && !info?.progress ? 'en' : undefined],
    [t('status.requests'), requests === undefined ? undefined : format.number(requests)],
    [
      t('status.answerTime'),
      milliseconds === undefined ? undefined : t('status.milliseconds', { count: milliseconds }),
    ],
    ['yt-dlp', info?.tools?.ytDlp],
    ['FFmpeg', info?.tools?.ffmpeg],
    [t('status.installed'), info?.tools && format.ago(info.tools.installedAt, Date.now())],
    [t('status.version'), info?.version ?? undefined],
    [t('status.environment'), info?.environment ?? undefined],
    [t('status.instance'), new URL(api.base).host],
  ];
  return (
    <div class="page">
      <Header isMoving={false} />
      <main class="wrap status">
        <h1>{t('status.title')}</h1>
        <p class={`status-summary ${LOOKS[state]}`} role="status">
          {t(`status.${state}`)}
        </p>
        <dl class="panel facts">
          {facts.map(([name, value, language]) => (
            <div key={name} class="fact">
              <dt>{name}</dt>
              <dd>
                <bdi lang={language}>{value ?? '–'}</bdi>
              </dd>
            </div>
          ))}
        </dl>
        <div class="row status-recheck">
          {/* aria-disabled: a disabled button would lose the focus at every check. */}
          <button type="button" class="button" aria-disabled={isChecking} onClick={check}>
            <Icon name="retry" />
            {t('status.again')}
          </button>
          <div class="muted">
            <p>{at === undefined ? t('status.checking') : t('status.checked', { ago: format.ago(at, Date.now()) })}</p>
            <p>{t('status.refreshes')}</p>
          </div>
        </div>
      </main>
      <Footer>
        <a href="/">{t('status.back')}</a>
      </Footer>
    </div>
  );
};

const LOOKS = { checking: '', good: 'good', maintenance: 'waiting', bad: 'bad', unreachable: 'bad' } as const;
