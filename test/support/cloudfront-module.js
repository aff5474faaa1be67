// CloudFront's built-in module `cloudfront` as the edge function sees it, in the dialect that its runtime has. It
// remembers what the function chose, and refuses what the documentation of the origin helpers says is refused.

const state = { read: undefined, request: undefined, choice: undefined };

// Before each call of the function. `read`: from a key to its value; throws when there is none.
function begin(read, request) {
  state.read = read;
  state.request = request;
  state.choice = undefined;
}

const choice = () => state.choice;

function kvs() {
  return { get: (key) => state.read(key) };
}

function selectRequestOriginById(id) {
  state.choice = { id: id };
}

function updateRequestOrigin(origin) {
  if (/:|^[0-9.]+$/.test(origin.domainName)) throw new Error('domainName must be a DNS name');
  const names = Object.keys(origin.customHeaders);
  for (let i = 0; i < names.length; i++) {
    if (state.request.headers[names[i]]) throw new Error(`${names[i]} is among the viewer's headers`);
  }
  state.choice = { update: origin };
}

export default {
  begin: begin,
  choice: choice,
  kvs: kvs,
  selectRequestOriginById: selectRequestOriginById,
  updateRequestOrigin: updateRequestOrigin,
};
