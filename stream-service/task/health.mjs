/**
 * The health check of the containers: exits with 0 when the path responds with 200, by default the one of the stream service.
 * Not part of a bundle: it imports nothing.
 */
const TIMEOUT_MS = 8_000;

try {
  const url = `http://127.0.0.1:${process.env.PORT || 8080}${process.argv[2] ?? '/healthz'}`;
  const { status } = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  process.exitCode = status === 200 ? 0 : 1;
} catch (error) {
  console.error(String(error));
  process.exitCode = 1;
}
