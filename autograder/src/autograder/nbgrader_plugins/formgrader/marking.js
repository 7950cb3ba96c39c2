// Runs on the formgrader's page of a submission, after nbgrader's own scripts and in the place of
// MathJax. It stores what somebody typed and nothing else, and shows both marks if somebody else
// has marked the same exercise meanwhile.

(() => {
    // nbgrader begins when MathJax says that it has ended, and scrolls. It does so at once: a click
    // is lost if its button moves away between press and release.
    const begin = (listen) => {
        $.fx.off = true;
        listen("End");
        $.fx.off = false;
    };
    window.MathJax = {Hub: {Startup: {signal: {Interest: begin}}}};

    const LABELS = {
        manual_score: "Points",
        extra_credit: "Extra credit",
        manual_comment: "Comment",
    };

    const exercises = new Map();
    let saving = Promise.resolve();
    let waiting = 0; // requests that are not answered

    class Field {
        constructor(view, input, key) {
            Object.assign(this, {view, input, key});
            this.shown = ""; // the text that the page put there
            this.confirmed = false; // somebody typed, and perhaps the same number again
            input.on("input", () => {
                this.confirmed = true;
                view.exercise.describe();
            });
        }

        get text() {
            return this.input.val() ?? "";
        }

        get invalid() {
            return Boolean(this.input[0]?.validity.badInput);
        }

        get changed() {
            const decides = this.confirmed && this.text !== "" && this.key === "manual_score";
            const waits = this.view.exercise.seen.needs_manual_grade;
            return this.text !== this.shown || this.invalid || (decides && waits);
        }

        get value() {
            if (this.text === "") {
                return null;
            }
            return this.key === "manual_comment" ? this.text : Number(this.text);
        }

        // Shows the value in the gradebook, unless somebody typed another one.
        show() {
            if (this.text === this.shown && !this.invalid) {
                this.put(this.view.exercise.seen[this.key]);
            }
        }

        put(value) {
            this.input.val(value ?? "");
            this.shown = this.text;
            this.confirmed = false;
        }

        problem() {
            const most = this.view.model.get("max_score");
            if (this.invalid) {
                return "This is not a number. Nothing was stored: type one, such as 1.5.";
            }
            if (this.key === "manual_comment" || this.value === null) {
                return "";
            }
            if (this.value < 0) {
                return "Points cannot be below 0. Nothing was stored: type 0 or more.";
            }
            if (this.key === "manual_score" && this.value > most) {
                return `${this.value} is more than the ${most} points of this exercise. ` +
                    `Nothing was stored: type 0 to ${most}; what goes beyond is extra credit.`;
            }
            return "";
        }
    }

    class Exercise {
        constructor(seen) {
            this.seen = seen;
            this.views = [];
        }

        get fields() {
            return this.views.flatMap((view) => view.fields);
        }

        get typed() {
            return this.fields.filter((field) => field.changed);
        }

        take(now) {
            this.seen = now;
            this.views.forEach((view) => view.render());
        }

        // Shows what is in the gradebook now beside what was typed, above the answer.
        ask(view, now) {
            this.theirs = now;
            this.asked?.remove();
            const role = {role: "alertdialog", "aria-label": "Not stored yet", tabindex: -1};
            this.asked = $("<div/>", {class: "conflict", ...role});
            view.$el.find(".panel-heading").first().after(this.asked);
            // nbgrader's keys lead away from here.
            this.asked.on("keydown", (event) => event.stopPropagation());
            // Buttons are made once: a click on one that was replaced after the press is lost.
            this.told = $("<div/>");
            this.overruling = button("Store what I typed", "btn-default", () => this.overrule());
            this.asked.append(
                this.told,
                this.hasNewAnswer
                    ? button("Show the new answer", "btn-primary", () => this.reload())
                    : button("Keep what is in the gradebook", "btn-primary", () => this.keep()),
                this.overruling,
            );
            this.describe();
            this.look();
        }

        get hasNewAnswer() {
            return this.seen.answer !== this.theirs.answer;
        }

        describe() {
            if (!this.asked) {
                return;
            }
            const {seen, theirs} = this;
            const other = Object.keys(LABELS).filter((key) => seen[key] !== theirs[key]);
            const isNew = this.hasNewAnswer;
            const cause = isNew ? "the student's answer has changed"
                : other.length ? "somebody else marked this exercise"
                : "this exercise was graded again";
            const typed = new Map(this.typed.map((field) => [field.key, field]));
            const keys = Object.keys(LABELS).filter((key) => typed.has(key) || other.includes(key));
            const [theirHead, ownHead] = ["In the gradebook now", "You typed"];
            const rows = keys.map((key) => {
                const own = typed.has(key) ? typed.get(key).text || "none" : "not changed";
                return $("<tr/>").append(
                    $("<th/>", {scope: "row", text: LABELS[key]}),
                    $("<td/>", {"data-head": theirHead, text: inWords(theirs, key)}),
                    $("<td/>", {"data-head": ownHead, text: own}),
                );
            });
            this.overruling.toggle(typed.size > 0);
            this.told.empty().append(
                $("<strong/>", {text: `Not stored yet: ${cause} after you opened this page.`}),
                $("<div/>", {text: isNew
                    ? "Read the new answer before you decide which mark counts."
                    : "Decide which counts. Nothing is lost until then."}),
                $("<table/>").append(
                    $("<tr/>").append(
                        $("<td/>"),
                        [theirHead, ownHead].map((text) => $("<th/>", {scope: "col", text})),
                    ),
                    rows,
                ),
            );
        }

        look() {
            this.asked[0].scrollIntoView({block: "center"});
            this.asked[0].focus({preventScroll: true});
        }

        done() {
            this.asked.remove();
            this.asked = undefined;
        }

        reload() {
            this.done(); // otherwise the browser asks whether to leave
            this.fields.forEach((field) => field.put(field.shown));
            window.location.reload();
        }

        keep() {
            this.done();
            this.seen = this.theirs;
            this.fields.forEach((field) => field.put(this.seen[field.key]));
            this.take(this.seen);
        }

        overrule() {
            this.done();
            const views = this.views.filter((view) => view.fields.some((field) => field.changed));
            this.take(this.theirs);
            views.forEach((view) => store(view));
        }
    }

    const button = (text, kind, act) =>
        $("<button/>", {type: "button", class: `btn btn-sm ${kind}`, text}).on("click", act);

    const inWords = (seen, key) => {
        if (seen[key] !== null && seen[key] !== "") {
            return `${seen[key]}` + (key === "manual_score" && seen.needs_manual_grade
                ? " (waits for a person)" : "");
        }
        return key === "manual_score" && seen.auto_score !== null
            ? `${seen.auto_score} (from the tests)` : "none";
    };

    // Stores what somebody typed in a cell, after all that was typed before.
    const store = (view, isSettled = false) => {
        waiting += 1;
        saving = saving.then(() => send(view, isSettled)).finally(() => {
            waiting -= 1;
        });
        return saving;
    };

    const send = async (view, isSettled) => {
        const {exercise} = view;
        const typed = view.fields.filter((field) => field.changed);
        view.complain("");
        if (exercise.asked) {
            exercise.describe();
            return;
        }
        if (!typed.length && !isSettled) {
            return;
        }
        const wrong = typed.find((field) => field.problem());
        if (wrong) {
            view.complain(wrong.problem(), wrong);
            return;
        }
        const texts = typed.map((field) => field.text);
        const values = Object.fromEntries(typed.map((field) => [field.key, field.value]));
        typed.forEach((field) => {
            field.confirmed = false;
        });
        view.animateSaving();
        const {status, now} = await request(view.model.url(), {...values, seen: exercise.seen});
        if (status === 200) {
            typed.forEach((field, place) => {
                field.shown = texts[place];
            });
            exercise.take(now);
            view.animateSaved();
            return;
        }
        view.$glyph.hide();
        typed.forEach((field) => {
            field.confirmed = true;
        });
        if (status === 409) {
            exercise.ask(view, now);
        } else {
            view.complain(
                status ? `Not stored: the server answered ${status}.`
                    : "Not stored: the server does not answer.",
                typed[0],
                button("Try again", "btn-default", () => store(view, isSettled)),
            );
        }
    };

    const request = async (url, body) => {
        const headers = {"Content-Type": "application/json", "X-CSRFToken": getCookie("_xsrf")};
        try {
            const answer = await fetch(url, {method: "PUT", headers, body: JSON.stringify(body)});
            const known = answer.status === 200 || answer.status === 409;
            return {status: answer.status, now: known ? (await answer.json()).now : undefined};
        } catch {
            return {status: 0};
        }
    };

    // What both kinds of cells have.
    const cell = {
        join(inputs) {
            const seen = this.model.get("seen");
            if (!exercises.has(seen.exercise)) {
                exercises.set(seen.exercise, new Exercise(seen));
            }
            this.exercise = exercises.get(seen.exercise);
            this.exercise.views.push(this);
            this.fields = inputs.map(([input, key]) => new Field(this, input, key));
        },

        complain(text, field, action) {
            this.complaint?.remove();
            this.$el.find(".refused-field").removeClass("refused-field");
            this.complaint = undefined;
            if (text) {
                this.complaint = $("<p/>", {class: "refused", role: "alert", text}).append(action);
                this.$el.find(".panel-heading").first().after(this.complaint);
                field?.input.addClass("refused-field");
            }
        },
    };

    Object.assign(GradeUI.prototype, cell, {
        render() {
            if (!this.exercise) {
                this.join([[this.$score, "manual_score"], [this.$extra_credit, "extra_credit"]]);
            }
            const {seen} = this.exercise;
            this.fields.forEach((field) => field.show());
            this.$score.attr("placeholder", seen.auto_score);
            this.$score.toggleClass("needs_manual_grade", seen.needs_manual_grade);
            const hasPoints = seen.manual_score !== null || seen.auto_score !== null;
            this.$mark_graded.toggle(seen.needs_manual_grade && hasPoints);
        },

        save(event) {
            return store(this, $(event?.currentTarget).is(".mark-graded"));
        },

        assign(score, extra) {
            this.$score.val(score).trigger("input");
            if (extra !== undefined && this.$extra_credit.val() !== "") {
                this.$extra_credit.val(extra).trigger("input");
            }
            store(this);
            this.$score.trigger("select").trigger("focus");
        },

        assignFullCredit() {
            this.assign(this.model.get("max_score"));
        },

        assignNoCredit() {
            this.assign(0, 0);
        },
    });

    Object.assign(CommentUI.prototype, cell, {
        render() {
            if (!this.exercise) {
                this.join([[this.$comment, "manual_comment"]]);
            }
            this.fields.forEach((field) => field.show());
        },

        save() {
            return store(this);
        },
    });

    const all = () => [...exercises.values()];
    const isUnsaved = () => waiting > 0 || all().some((each) => each.asked || each.typed.length);

    // nbgrader stored whatever had the focus. What cannot be stored keeps the reader on the page.
    FormGrader.prototype.save = function (callback) {
        if (!this.grades?.loaded || !this.comments?.loaded) {
            setTimeout(() => this.save(callback), 50); // What was typed so far is stored then.
            return;
        }
        for (const exercise of all()) {
            exercise.views
                .filter((view) => view.fields.some((field) => field.changed))
                .forEach((view) => store(view));
        }
        saving.then(() => {
            const open = all().find((each) => each.asked || each.typed.length);
            if (!open) {
                callback?.();
            } else if (open.asked) {
                open.look();
            } else {
                open.typed[0].input[0].scrollIntoView({block: "center"});
                open.typed[0].input.trigger("focus");
            }
        });
    };

    $(document).on("click", "a[href]", (event) => {
        const isHere = !event.ctrlKey && !event.metaKey && !event.currentTarget.target;
        if (isHere && isUnsaved()) {
            event.preventDefault();
            const {href} = event.currentTarget;
            formgrader.save(() => {
                window.location = href;
            });
        }
    });

    window.addEventListener("beforeunload", (event) => {
        if (isUnsaved()) {
            event.preventDefault();
        }
    });

    $(document).on("ajaxError", () => {
        if (!$(".conflict.unloaded").length) {
            const text = "The marks could not be loaded: reload this page.";
            $("#notebook").prepend($("<p/>", {class: "conflict unloaded", role: "alert", text}));
        }
    });
})();
