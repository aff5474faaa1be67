import { render } from 'preact';

render(<main>Reelay</main>, document.body);
