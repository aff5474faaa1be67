/** The container's health check: exits with 0 while the task takes streams. Stands alone beside the bundle. */
const TIMEOUT = 8_000;

try {
  const url = `http://127.0.0.1:${process.env.PORT || 8080}/healthz`;
  const { status } = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT) });
  process.exitCode = status === 200 ? 0 : 1;
} catch (error) {
  console.error(String(error));
  process.exitCode = 1;
}
