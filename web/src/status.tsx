import { render } from 'preact';

render(<main>Reelay: status</main>, document.body);
