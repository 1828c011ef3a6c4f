// Forms in a frame whose sandbox lacks allow-forms: the browser blocks the submission before its event, though nothing
// here is ever sent anywhere. A click on the button, which Enter makes too, gives the form its event directly.

/** @param {Document} page */
export function submitWithoutSending(page) {
  page.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('button') : null;
    if (!button?.form || button.type !== 'submit' || event.defaultPrevented) return;
    event.preventDefault();
    button.form.dispatchEvent(new SubmitEvent('submit', { bubbles: true, cancelable: true, submitter: button }));
  });
}
