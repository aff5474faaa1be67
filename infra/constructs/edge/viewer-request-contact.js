// The step of the viewer-request function that sends the contact for reports of vulnerabilities, as `securityText` does.
// `viewer-request-source.ts` puts SECURITY_TEXT_PATH, SECURITY_TEXT_VALID_MS and CONTACT_LINES in front of the function.

// biome-ignore lint/correctness/noUnusedVariables: a step of the handler in viewer-request.js
function sendSecurityText(request) {
  if (request.uri !== SECURITY_TEXT_PATH) return undefined;
  return {
    statusCode: 200,
    headers: { 'content-type': { value: 'text/plain; charset=utf-8' } },
    body: `${CONTACT_LINES}${new Date(Date.now() + SECURITY_TEXT_VALID_MS).toISOString()}\n`,
  };
}
