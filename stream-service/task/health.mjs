/** The container's health check: exits with 0 while the task takes streams. Not part of the bundle: it imports nothing. */
const TIMEOUT_MS = 8_000;

try {
  const url = `http://127.0.0.1:${process.env.PORT || 8080}/healthz`;
  const { status } = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  process.exitCode = status === 200 ? 0 : 1;
} catch (error) {
  console.error(String(error));
  process.exitCode = 1;
}
